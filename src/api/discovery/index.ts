/** discovery.k8s.io, in the order of its discovery. */
import { endpointSlices } from './endpoint-slice.ts'

export const resources = [endpointSlices]
