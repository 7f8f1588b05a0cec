"""Installs the commands of the collection by themselves: for pre-commit, for the GitHub Action, or `pip install .`."""

from pathlib import Path

from setuptools import find_namespace_packages, setup

NAME = "ansible_collections.virtshape.instancetypes"
CATALOG = "roles.common_instancetypes.files.catalog"
COMMANDS = ("check", "modernize")
VERSION = next(
    line.split()[1]
    for line in Path(__file__).with_name("galaxy.yml").read_text().splitlines()
    if line[:8] == "version:"
)

setup(
    name="virtshape-instancetypes",
    version=VERSION,
    description="Checks and converts manifests of KubeVirt",
    license="GPL-3.0-or-later",
    python_requires=">=3.11",
    install_requires=["ansible-core>=2.16", "PyYAML", "urllib3>=1.26.5"],
    packages=[f"{NAME}.{package}" for package in [*find_namespace_packages(include=["plugins*"]), CATALOG]],
    package_dir={NAME: "."},
    package_data={"": ["*.yml", "*.yaml", "*.json", "*.j2", "*.css", "*.gz", "*.html"]},
    entry_points={
        "console_scripts": [f"virtshape-{name} = {NAME}.plugins.plugin_utils.{name}:main" for name in COMMANDS]
    },
)
