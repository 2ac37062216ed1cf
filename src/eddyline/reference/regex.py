"""todo"""
import re
def rlike(text: str, pattern: str) -> bool:
    return re.search(pattern, text) is not None
