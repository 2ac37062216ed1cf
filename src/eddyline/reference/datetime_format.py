"""todo"""
def parse_timestamp(place, text, fmt): raise NotImplementedError
