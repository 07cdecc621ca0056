/** The group policy: what holds evictions back. */
import type { ResourceDefinition } from '../resource.ts'
import { podDisruptionBudgets } from './pod-disruption-budget.ts'

export const resources: readonly ResourceDefinition[] = [podDisruptionBudgets]
