//! Where the exploration is in its tree: the nodes on the way there that still have children left, and these.

use super::choice::{Choice, Frame, Path};

/// The way from the root of a subtree to where the exploration is.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// Where the subtree is in the whole tree.
    pub root: Path,
    /// How many events the graph had where the [stage](super::models) began.
    pub frozen: usize,
    /// The nodes with several children.
    pub frames: Vec<Frame>,
    /// Their children, and while a node is decided about, its children.
    pub choices: Vec<Choice>,
}

impl Tree {
    /// Begins a subtree.
    pub fn begin(&mut self, root: Path, frozen: usize) {
        (self.root, self.frozen) = (root, frozen);
        self.frames.clear();
        self.choices.clear();
    }

    /// The way from the root of the whole tree to where the exploration is.
    pub fn path(&self) -> Path {
        self.path_to(self.frames.len())
    }

    /// The way from the root of the whole tree through so many nodes.
    fn path_to(&self, frames: usize) -> Path {
        let steps = self.frames[..frames].iter().map(|frame| (frame.current - frame.start) as u32);
        self.root.iter().copied().chain(steps).collect()
    }

    /// Takes the last child off the outermost node that has one left; with the node, and the way to the child.
    pub fn give_away(&mut self) -> Option<(Frame, Choice, Path)> {
        let index = self.frames.iter().position(|frame| frame.current + 1 < frame.end)?;
        self.frames[index].end -= 1;
        let frame = self.frames[index].clone();
        let mut path = self.path_to(index);
        path.push((frame.end - frame.start) as u32);
        Some((frame.clone(), self.choices[frame.end], path))
    }

    /// The bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.choices.capacity() * size_of::<Choice>() + self.frames.capacity() * size_of::<Frame>()
    }
}
