/** flowcontrol.apiserver.k8s.io, in the order of its discovery. */
import { flowSchemas } from './flow-schema.ts'
import { priorityLevelConfigurations } from './priority-level-configuration.ts'

export const resources = [flowSchemas, priorityLevelConfigurations]
