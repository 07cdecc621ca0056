/** The group policy. */
import type { ResourceDefinition } from '../resource.ts'
import { podDisruptionBudgets } from './pod-disruption-budget.ts'

export const resources: readonly ResourceDefinition[] = [podDisruptionBudgets]
