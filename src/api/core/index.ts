/** The core group, v1: pods and what they need. */
import type { ResourceDefinition } from '../resource.ts'
import { bindings } from './binding.ts'
import { componentStatuses } from './component-status.ts'
import { configMaps } from './config-map.ts'
import { endpoints } from './endpoints.ts'
import { events } from './event.ts'
import { limitRanges } from './limit-range.ts'
import { namespaces } from './namespace.ts'
import { nodes } from './node.ts'
import { persistentVolumes } from './persistent-volume.ts'
import { persistentVolumeClaims } from './persistent-volume-claim.ts'
import { pods } from './pod/index.ts'
import { podTemplates } from './pod-template.ts'
import { replicationControllers } from './replication-controller.ts'
import { resourceQuotas } from './resource-quota.ts'
import { secrets } from './secret.ts'
import { services } from './service/index.ts'
import { serviceAccounts } from './service-account.ts'

export const resources: readonly ResourceDefinition[] = [
  bindings,
  componentStatuses,
  configMaps,
  endpoints,
  events,
  limitRanges,
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  podTemplates,
  replicationControllers,
  resourceQuotas,
  secrets,
  serviceAccounts,
  services,
]
