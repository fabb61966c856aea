"""A Hydra application of three groups that does nothing: what Hydra alone costs."""

import hydra
from omegaconf import DictConfig


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(cfg: DictConfig) -> None:
    """The task: nothing."""
    assert cfg.db.port and cfg.model.depth and cfg.out.folder


if __name__ == "__main__":
    main()
