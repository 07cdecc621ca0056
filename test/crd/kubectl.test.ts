/** Custom resources with every kubectl of this machine, each against a cluster of its own. */
import { kubectlTour } from '../support/kubectl-tour.ts'
import { customStops } from './kubectl/stops.ts'

kubectlTour('kubectl and custom resources', customStops)
