/**
 * A tour of kubectl's commands. Each of several test files runs some of the installed versions, so that it ends well
 * within the time limit of a file.
 */
import { kubectlTour } from '../../support/kubectl-tour.ts'
import { accessStops } from './access.ts'
import { applyStops } from './apply.ts'
import { changeStops } from './change.ts'
import { createStops } from './create.ts'
import { deleteStops } from './delete.ts'
import { describeStops } from './describe.ts'
import { discoveryStops } from './discovery.ts'
import { getStops } from './get.ts'
import { nameStops } from './names.ts'
import type { Stops } from './stop.ts'

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

const files = 3

/** Declares the tests of one of those files; `index` counts from 0. */
export const tourPart = (index: number): void => kubectlTour('kubectl', stops, { index, of: files })
