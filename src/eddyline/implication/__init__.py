"""Which predicates imply, exclude or never satisfy one another.

The search over AND/OR trees (goals, cutting, search, facts/, proof, check_proof) serves relations between queries. The
paper DISJ's own algorithms on boxes (boxes, matching, quick_check, the two relaxations, exact_matching, box_index) stand
beside it under their names.
"""
