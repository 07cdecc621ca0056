/** A tour of kubectl's commands, with every kubectl of this machine against a cluster of its own. */
import { kubectlTour } from '../support/kubectl-tour.ts'
import { accessStops } from './kubectl/access.ts'
import { applyStops } from './kubectl/apply.ts'
import { changeStops } from './kubectl/change.ts'
import { createStops } from './kubectl/create.ts'
import { deleteStops } from './kubectl/delete.ts'
import { describeStops } from './kubectl/describe.ts'
import { discoveryStops } from './kubectl/discovery.ts'
import { getStops } from './kubectl/get.ts'
import { nameStops } from './kubectl/names.ts'
import type { Stops } from './kubectl/stop.ts'

const stops: Stops = {
  ...discoveryStops,
  ...createStops,
  ...getStops,
  ...applyStops,
  ...changeStops,
  ...describeStops,
  ...deleteStops,
  ...accessStops,
  ...nameStops,
}

kubectlTour('kubectl', stops)
