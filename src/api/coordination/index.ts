/** coordination.k8s.io, in the order of its discovery. */
import { leases } from './lease.ts'
import { alphaLeaseCandidates, leaseCandidates } from './lease-candidate.ts'

export const resources = [leases, leaseCandidates, alphaLeaseCandidates]
