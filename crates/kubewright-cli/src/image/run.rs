use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::files::files;
use super::layout::{Image, image, join};
use super::platform::Platform;
use super::push::{megabytes, push};
use super::reference::Reference;
use crate::error::Error;
use crate::output::{note, print, say};
use crate::output_format::{OutputFlag, OutputFormat};
use crate::program::{self, Build, Package, Words, static_target};

/// What `kubewright image` is called with.
#[derive(Args, Debug)]
pub(crate) struct ImageArguments {
    /// The operator's folder: a Cargo package with one program.
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// The image's name, such as r.example.com/sites:0.1.0.
    #[arg(long, short, value_name = "IMAGE")]
    tag: Option<Reference>,
    /// Bring it to the registry of its name.
    #[arg(long, requires = "tag")]
    push: bool,
    /// Save it as an OCI archive [default: NAME.tar beside the build's results, unless pushed].
    #[arg(long, value_name = "FILE")]
    archive: Option<PathBuf>,
    /// A platform such as linux/arm64; may be given several times [default: this machine's].
    #[arg(long, value_name = "PLATFORM", value_delimiter = ',')]
    platform: Vec<Platform>,
    /// The profile to build with.
    #[arg(long, value_name = "NAME", default_value = "release")]
    profile: String,
    #[command(flatten)]
    form: OutputFlag,
}

/// Builds the operator and makes an image of it.
///
/// # Cancel safety
///
/// Dropping the future ends the build or the push; an archive is there whole or not at all.
pub(crate) async fn run(arguments: &ImageArguments) -> Result<(), Error> {
    let package = program::package(&arguments.folder).await?;
    let mut platforms = arguments.platform.clone();
    platforms.dedup();
    if platforms.is_empty() {
        let here = Platform::here().ok_or(Error::Argument {
            flag: "--platform",
            value: std::env::consts::ARCH.to_owned(),
            wanted: "a platform that images know, such as linux/amd64",
        })?;
        platforms.push(here);
    }
    let mut images = Vec::new();
    for platform in platforms {
        images.push((platform, for_platform(arguments, &package, platform).await?));
    }
    let image = join(images);
    let archive = match (&arguments.archive, arguments.push) {
        (Some(path), _) => Some(path.clone()),
        (None, false) => Some(package.target.join(format!("{}.tar", package.name))),
        (None, true) => None,
    };
    if let Some(path) = &archive {
        save(&image, arguments.tag.as_ref(), path)?;
    }
    if let Some(tag) = arguments.tag.as_ref().filter(|_| arguments.push) {
        push(&image, tag).await?;
    }
    tell(arguments, &image, archive.as_deref())
}

async fn for_platform(
    arguments: &ImageArguments,
    package: &Package,
    platform: Platform,
) -> Result<Image, Error> {
    let mut build = Build::new(&arguments.folder, Words::Shown);
    build.arguments = vec!["--profile".into(), arguments.profile.as_str().into()];
    match static_target(platform.rust) {
        Some(target) => build.arguments.extend(["--target".into(), target.into()]),
        None if platform.is_here() => note(format_args!(
            "note: no static target for {platform} is installed: the system's C library goes into \
             the image; `kubewright doctor` says more"
        )),
        None => {
            return Err(Error::NoTarget {
                platform: platform.to_string(),
                target: format!("{}-unknown-linux-musl", platform.rust),
            });
        }
    }
    let program = build.run().await?;
    let (program, libraries) = files(&program).await?;
    image(package, platform, &program, &libraries)
}

/// Written beside its place and moved there, so that nobody reads half of it.
fn save(image: &Image, tag: Option<&Reference>, path: &Path) -> Result<(), Error> {
    let failed = |source| Error::File {
        action: "write",
        path: path.to_owned(),
        source,
    };
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(failed)?;
    let file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    let name = tag.map(ToString::to_string);
    std::fs::write(file.path(), image.archive(name.as_deref())).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

fn tell(arguments: &ImageArguments, image: &Image, archive: Option<&Path>) -> Result<(), Error> {
    let digest = &image.root.digest;
    let packed: usize = image.parts.iter().map(|part| part.bytes.len()).sum();
    match arguments.form.output {
        OutputFormat::Json => {
            let answer = json!({
                "digest": digest,
                "archive": archive,
                "image": arguments.tag.as_ref().map(ToString::to_string),
                "pushed": arguments.push,
                "bytes": packed,
                "unpackedBytes": image.unpacked,
            });
            print(&format!("{answer:#}\n"))
        }
        OutputFormat::Text => {
            if let Some(archive) = archive {
                say(format_args!("archive   {}", archive.display()));
            }
            say(format_args!("digest    {digest}"));
            let (packed, unpacked) = (megabytes(packed), megabytes(image.unpacked));
            say(format_args!("size      {packed}, unpacked {unpacked}"));
            Ok(())
        }
    }
}
