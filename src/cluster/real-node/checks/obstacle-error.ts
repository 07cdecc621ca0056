/** The error of a machine that cannot be a real node. */
import { ExplainedError } from '../../../lib/explained-error.ts'

/** A reason why a cluster cannot have a real node, and the remedy. */
export interface Obstacle {
  /** A clause: `only root can run containers`. */
  readonly reason: string
  /** An imperative: `use sudo`. */
  readonly remedy: string
  /** A flag that is another remedy where the node is simulated because of the obstacle: `--node-type=real`. */
  readonly flag?: string
}

export class ObstacleError extends ExplainedError {
  readonly obstacle: Obstacle

  constructor(obstacle: Obstacle) {
    const { reason, remedy } = obstacle
    super(`this machine cannot be a real node, because ${reason}: ${remedy}, or leave out --node-type=real`)
    this.obstacle = obstacle
  }
}
