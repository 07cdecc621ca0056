import type { ResourceDefinition } from '../resource.ts'

export const resources: readonly ResourceDefinition[] = []
