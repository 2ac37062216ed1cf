"""A red-black tree over lists: no red node has a red child, and every way down has as many black nodes."""

from __future__ import annotations

from typing import Final

NIL: Final = -1


class RedBlackTree:
    """Nodes are numbered as they are inserted; the arrays hold key, children, parent and colour of each."""

    def __init__(self) -> None:
        self.root = NIL
        self.keys: list[float] = []
        self.left: list[int] = []
        self.right: list[int] = []
        self.parent: list[int] = []
        self.red: list[bool] = []

    def insert(self, key: float) -> int:
        """The node of a key, which is made if there is none."""
        above, node = NIL, self.root
        while node != NIL:
            if self.keys[node] == key:
                return node
            above, node = node, self.left[node] if key < self.keys[node] else self.right[node]
        new = len(self.keys)
        self.keys.append(key)
        self.left.append(NIL)
        self.right.append(NIL)
        self.parent.append(above)
        self.red.append(True)
        if above == NIL:
            self.root = new
        elif key < self.keys[above]:
            self.left[above] = new
        else:
            self.right[above] = new
        self._repair(new)
        return new

    def _repair(self, node: int) -> None:
        """Moves a red node with a red parent up, or turns it away."""
        while (above := self.parent[node]) != NIL and self.red[above]:
            top = self.parent[above]  # there is one: the root is black
            on_left = above == self.left[top]
            uncle = self.right[top] if on_left else self.left[top]
            if uncle != NIL and self.red[uncle]:
                self.red[above] = self.red[uncle] = False
                self.red[top] = True
                node = top
                continue
            inner = self.right[above] if on_left else self.left[above]
            if node == inner:
                self._rotate(above, to_left=on_left)
                node, above = above, node
            self.red[above], self.red[top] = False, True
            self._rotate(top, to_left=not on_left)
        self.red[self.root] = False

    def _rotate(self, node: int, *, to_left: bool) -> None:
        """The node goes down on one side, its child of the other side takes its place."""
        near, far = (self.left, self.right) if to_left else (self.right, self.left)
        child, above = far[node], self.parent[node]
        far[node] = near[child]
        if near[child] != NIL:
            self.parent[near[child]] = node
        near[child], self.parent[node], self.parent[child] = node, child, above
        if above == NIL:
            self.root = child
        elif self.left[above] == node:
            self.left[above] = child
        else:
            self.right[above] = child
