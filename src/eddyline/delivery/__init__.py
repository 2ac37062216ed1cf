"""What delivering results needs on every runtime: rows as text, where they may go, and when to try again."""
