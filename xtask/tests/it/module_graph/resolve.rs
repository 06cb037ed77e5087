//! Resolves the paths of a crate to its modules, through re-exports.

use std::collections::{BTreeMap, BTreeSet};

use super::parse::{FileUses, Path};

/// The maximum number of re-exports in a path.
const MAX_DEPTH: usize = 12;

/// A module of a crate: the names from the root.
pub(super) type Module = Vec<String>;

/// The edges from each module to the modules that it uses.
pub(super) type Graph = BTreeMap<Module, BTreeSet<Module>>;

/// The modules of a crate, one for each file.
pub(super) struct ModuleTree {
    files: BTreeMap<Module, FileUses>,
}

impl ModuleTree {
    pub(super) fn new(sources: BTreeMap<Module, String>) -> Self {
        let mut files: BTreeMap<Module, FileUses> = sources
            .into_iter()
            .map(|(module, source)| (module, FileUses::parse(&source)))
            .collect();
        let tests: Vec<Module> = files
            .iter()
            .flat_map(|(module, uses)| {
                let children = uses.test_modules.iter();
                children.map(|child| [module.as_slice(), std::slice::from_ref(child)].concat())
            })
            .collect();
        files.retain(|module, _| !tests.iter().any(|test| module.starts_with(test)));
        Self { files }
    }

    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    pub(super) fn edges(&self) -> Graph {
        let mut graph = Graph::new();
        for (module, uses) in &self.files {
            for path in &uses.paths {
                if let Some(target) = self.resolve(module, path, 0)
                    && target != *module
                {
                    graph.entry(module.clone()).or_default().insert(target);
                }
            }
        }
        graph
    }

    /// Returns the module that defines the item at a path; `None` for other crates and local names.
    fn resolve(&self, module: &Module, path: &Path, depth: usize) -> Option<Module> {
        if depth > MAX_DEPTH {
            return None;
        }
        let (first, rest) = path.split_first()?;
        let (mut found, mut rest) = match first.as_str() {
            "crate" => (Vec::new(), rest),
            "self" => (module.clone(), rest),
            "super" => {
                let count = path.iter().take_while(|part| *part == "super").count();
                let parent = module.len().checked_sub(count)?;
                (module[..parent].to_vec(), &path[count..])
            }
            name if self.has_child(module, name) => (module.clone(), path.as_slice()),
            name => {
                let imported = self.files.get(module)?.imports.get(name)?;
                if imported == path {
                    return None;
                }
                let path = [imported.as_slice(), rest].concat();
                return self.resolve(module, &path, depth + 1);
            }
        };
        while let Some((name, below)) = rest.split_first()
            && self.has_child(&found, name)
        {
            found.push(name.clone());
            rest = below;
        }
        if let Some((name, below)) = rest.split_first()
            && let Some(imported) = self.files.get(&found)?.imports.get(name)
        {
            let path = [imported.as_slice(), below].concat();
            if let Some(target) = self.resolve(&found, &path, depth + 1) {
                return Some(target);
            }
        }
        self.files.contains_key(&found).then_some(found)
    }

    fn has_child(&self, module: &Module, name: &str) -> bool {
        let child = [module.as_slice(), &[name.to_owned()]].concat();
        self.files.contains_key(&child)
    }
}
