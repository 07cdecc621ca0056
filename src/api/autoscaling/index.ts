/** The group autoscaling. v2 is the preferred version. */
import type { ResourceDefinition } from '../resource.ts'
import { horizontalPodAutoscalers, horizontalPodAutoscalersV1 } from './horizontal-pod-autoscaler/index.ts'

export const resources: readonly ResourceDefinition[] = [horizontalPodAutoscalers, horizontalPodAutoscalersV1]
