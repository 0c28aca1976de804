//! The embedded SDK as a subject: a real repository and a real virtual environment, and one run of the pipeline on them.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use paired_sdk_gate::approval::Approval;
use paired_sdk_gate::check::{Check, Finding, Status};
/// The version the embedded SDK declares.
pub use paired_sdk_gate::contract::DEMO_VERSION as VERSION;
use paired_sdk_gate::contract::{Contract, DEMO_SDK};
use paired_sdk_gate::identity::{ExpectedIdentity, ModuleOrigin};
use paired_sdk_gate::inventory::ReleaseFile;
use paired_sdk_gate::limits::{Budget, Limits};
use paired_sdk_gate::pipeline::{self, Observer, Request, Run};
use paired_sdk_gate::report::Verdict;

use super::git::Repo;

/// A committed embedded SDK, and an environment to run it in.
pub struct Subject {
    /// Everything of this subject lies in here.
    pub dir: tempfile::TempDir,
    pub repo: Repo,
    pub commit: String,
    pub environment: PathBuf,
    /// As `--wheelhouse` names it.
    pub wheelhouse: Option<PathBuf>,
    /// As `--release-artifact` names it.
    pub release_artifact: Option<ReleaseFile>,
    pub limits: Limits,
}

impl Subject {
    /// The SDK as it is embedded.
    pub fn new() -> Self {
        Self::edited(|_| {})
    }

    /// The SDK with changes made before the commit.
    pub fn edited(edit: impl FnOnce(&Repo)) -> Self {
        let mut subject = Self::within(Path::new(""), edit);
        subject.environment = subject.dir.path().join("venv");
        make_environment(&subject.environment, &[]);
        subject
    }

    /// The SDK with changes made before the commit, and the environment of another subject.
    pub fn within(environment: &Path, edit: impl FnOnce(&Repo)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let repo = Repo::init(dir.path().join("sdk"));
        for (path, text) in DEMO_SDK {
            repo.write(path, text);
        }
        edit(&repo);
        let commit = repo.commit_all("The embedded SDK");
        // Where every run of this subject makes its private folders.
        std::fs::create_dir(dir.path().join("tmp")).unwrap();
        Subject {
            dir,
            repo,
            commit,
            environment: environment.to_owned(),
            wheelhouse: None,
            release_artifact: None,
            limits: Limits::default(),
        }
    }

    /// Where private folders are made; empty when no run is under way.
    pub fn temporary(&self) -> PathBuf {
        self.dir.path().join("tmp")
    }

    /// The only site-packages folder.
    pub fn site(&self) -> PathBuf {
        let lib = self.environment.join("lib");
        let python = std::fs::read_dir(lib).unwrap().next().unwrap().unwrap().path();
        python.join("site-packages")
    }

    /// Installs a distribution, version 1.0, of these files, with the RECORD that an installer would write.
    pub fn install(&self, name: &str, files: &[(&str, &str)]) {
        use sha2::Digest;
        let site = self.site();
        let metadata = format!("{name}-1.0.dist-info");
        let mut record = String::new();
        for (path, text) in files {
            let file = site.join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
            let digest = data_encoding::BASE64URL_NOPAD.encode(&sha2::Sha256::digest(text));
            let digest = if path.ends_with(".pyc") { ",".into() } else { format!("sha256={digest},{}", text.len()) };
            record += &format!("{path},{digest}\n");
        }
        std::fs::create_dir_all(site.join(&metadata)).unwrap();
        std::fs::write(site.join(&metadata).join("RECORD"), format!("{record}{metadata}/RECORD,,\n")).unwrap();
    }

    /// One run of the pipeline.
    pub fn verify(&self) -> Verified {
        self.verify_as(&self.commit, VERSION)
    }

    /// One run of the pipeline that expects something else.
    pub fn verify_as(&self, commit: &str, version: &str) -> Verified {
        self.asked(Contract::demo(), commit, version, |_| {}, &|_| {})
    }

    /// One run of the pipeline with other options.
    pub fn verify_with(&self, change: impl FnOnce(&mut Request<'_>)) -> Verified {
        self.asked(Contract::demo(), &self.commit, VERSION, change, &|_| {})
    }

    /// One run of the pipeline with another contract.
    pub fn verify_by(&self, contract: &'static Contract) -> Verified {
        self.asked(contract, &self.commit, VERSION, |_| {}, &|_| {})
    }

    /// One run of the pipeline, with somebody who is told of its stages.
    pub fn verify_while(&self, observer: Observer<'_>) -> Verified {
        self.asked(Contract::demo(), &self.commit, VERSION, |_| {}, observer)
    }

    fn asked(
        &self,
        contract: &'static Contract,
        commit: &str,
        version: &str,
        change: impl FnOnce(&mut Request<'_>),
        observer: Observer<'_>,
    ) -> Verified {
        let identity = ExpectedIdentity::new(
            commit.parse().unwrap(),
            version.parse().unwrap(),
            ModuleOrigin::parse(contract.module_origin, contract).unwrap(),
            self.environment.clone(),
        );
        let identity = identity.unwrap();
        let budget = Budget::start(self.limits.clone(), Default::default());
        let mut request = Request {
            seed: 7,
            generated: 0,
            wheelhouse: self.wheelhouse.as_deref(),
            release_artifact: self.release_artifact.as_ref(),
            temporary: self.temporary(),
            ..Request::new(self.repo.root(), identity.commit(), Some(identity.version()), contract, budget)
        };
        change(&mut request);
        let (run, approval) = pipeline::verify(&request, &identity, observer);
        let left: Vec<_> = std::fs::read_dir(self.temporary()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(left, Vec::<PathBuf>::new(), "private folders must not outlive a run");
        Verified { run, approval }
    }
}

/// A finished run.
pub struct Verified {
    pub run: Run,
    pub approval: Option<Approval>,
}

impl Verified {
    pub fn verdict(&self) -> Verdict {
        if self.approval.is_some() { Verdict::Passed } else { Verdict::without_proof(&self.run.ledger) }
    }

    /// The ids of the checks with that status.
    pub fn ids(&self, status: Status) -> Vec<&'static str> {
        let entries = self.run.ledger.entries().iter();
        entries.filter(|entry| entry.status == status).map(|entry| entry.check.id()).collect()
    }

    pub fn findings(&self, id: &str) -> &[Finding] {
        let check = Check::from_id(id).unwrap();
        &self.run.ledger.entries().iter().find(|entry| entry.check == check).unwrap().findings
    }

    /// Refused by exactly these checks, each with a hint for each finding; the findings of the first.
    #[track_caller]
    pub fn refused_by(&self, ids: &[&str]) -> &[Finding] {
        assert_eq!(self.ids(Status::Failed), ids, "{:#?}", self.run.ledger);
        assert_eq!(self.verdict(), Verdict::Refused);
        for id in ids {
            assert!(self.findings(id).iter().all(|finding| !finding.hint.is_empty()));
        }
        self.findings(ids[0])
    }
}

/// `python3 -m venv` without pip.
pub fn make_environment(root: &Path, options: &[&str]) {
    let made = Command::new("python3").args(["-I", "-m", "venv", "--without-pip"]).args(options).arg(root).output();
    let made = made.unwrap();
    assert!(made.status.success(), "{made:?}");
}

/// Replaces a file by a link to it, moved aside.
pub fn turn_into_link(path: &Path, aside: &Path) {
    std::fs::rename(path, aside).unwrap();
    symlink(aside, path).unwrap();
}
