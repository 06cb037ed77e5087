//! The command itself: builds for each platform, writes the archive, pushes.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::layout::{Image, image, join};
use super::libraries::program_with_libraries;
use super::platform::Platform;
use super::push::{megabytes, push};
use super::reference::Reference;
use crate::error::Error;
use crate::output::{note, print, print_line};
use crate::output_format::{OutputFlag, OutputFormat};
use crate::program::{self, Build, BuildOutput, Package, static_target};

/// The arguments of `kubewright image`.
#[derive(Args, Debug)]
pub(crate) struct ImageArguments {
    /// The operator's folder: a Cargo package with one program.
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// The image's name, such as r.example.com/sites:0.1.0.
    #[arg(long, short, value_name = "IMAGE")]
    tag: Option<Reference>,
    /// Push it to the registry in its name.
    #[arg(long, requires = "tag")]
    push: bool,
    /// Save it as an OCI archive [default: NAME.tar in the target folder, unless pushed].
    #[arg(long, value_name = "FILE")]
    archive: Option<PathBuf>,
    /// A platform such as linux/arm64; may be given several times [default: this machine's].
    #[arg(long, value_name = "PLATFORM", value_delimiter = ',')]
    platform: Vec<Platform>,
    /// The profile to build with.
    #[arg(long, value_name = "NAME", default_value = "release")]
    profile: String,
    #[command(flatten)]
    format: OutputFlag,
}

/// Builds the operator and an image of it.
///
/// # Cancel safety
///
/// Dropping the future ends the build or the push; an archive is never written partially.
pub(crate) async fn run(arguments: &ImageArguments) -> Result<(), Error> {
    let package = program::package(&arguments.folder).await?;
    let mut platforms = arguments.platform.clone();
    platforms.dedup();
    if platforms.is_empty() {
        let here = Platform::here().ok_or(Error::Argument {
            flag: "--platform",
            value: std::env::consts::ARCH.to_owned(),
            expected: "a supported platform, such as linux/amd64",
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
    print_result(arguments, &image, archive.as_deref())
}

async fn for_platform(
    arguments: &ImageArguments,
    package: &Package,
    platform: Platform,
) -> Result<Image, Error> {
    let mut build = Build::new(&arguments.folder, BuildOutput::Shown);
    build.arguments = vec!["--profile".into(), arguments.profile.as_str().into()];
    match static_target(platform.rust) {
        Some(target) => build.arguments.extend(["--target".into(), target.into()]),
        None if platform.is_here() => note(format_args!(
            "note: no static target for {platform} is installed: the image contains the system's C \
library; `kubewright doctor` shows how to install one"
        )),
        None => {
            return Err(Error::NoTarget {
                platform: platform.to_string(),
                target: format!("{}-unknown-linux-musl", platform.rust),
            });
        }
    }
    let path = build.run().await?;
    let (program, libraries) = program_with_libraries(&path).await?;
    image(package, platform, &program, &libraries)
}

/// Writes the archive to a temporary file first: a rename is atomic.
fn save(image: &Image, tag: Option<&Reference>, path: &Path) -> Result<(), Error> {
    let failed = |source| Error::File {
        action: "write",
        path: path.to_owned(),
        source,
    };
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(failed)?;
    let file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    let name = tag.map(ToString::to_string);
    std::fs::write(file.path(), image.archive(name.as_deref())).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

fn print_result(
    arguments: &ImageArguments,
    image: &Image,
    archive: Option<&Path>,
) -> Result<(), Error> {
    let digest = &image.root.digest;
    let packed: usize = image.parts.iter().map(|part| part.bytes.len()).sum();
    match arguments.format.output {
        OutputFormat::Json => {
            let result = json!({
                "digest": digest,
                "archive": archive,
                "image": arguments.tag.as_ref().map(ToString::to_string),
                "pushed": arguments.push,
                "bytes": packed,
                "unpackedBytes": image.unpacked,
            });
            print(&format!("{result:#}\n"))
        }
        OutputFormat::Text => {
            if let Some(archive) = archive {
                print_line(format_args!("archive   {}", archive.display()));
            }
            print_line(format_args!("digest    {digest}"));
            let (packed, unpacked) = (megabytes(packed), megabytes(image.unpacked));
            print_line(format_args!("size      {packed}, unpacked {unpacked}"));
            Ok(())
        }
    }
}
