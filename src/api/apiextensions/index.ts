/** apiextensions.k8s.io, in the order of its discovery. */
import { customResourceDefinitions } from './custom-resource-definition.ts'

export const resources = [customResourceDefinitions]
