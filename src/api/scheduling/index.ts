/** scheduling.k8s.io, in the order of its discovery. */
import { podGroups, workloads } from './gang.ts'
import { priorityClasses } from './priority-class.ts'

export const resources = [priorityClasses, podGroups, workloads]
