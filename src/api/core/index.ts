/** The core group, v1. */
import type { ResourceDefinition } from '../resource.ts'
import { componentStatuses } from './cluster/component-status.ts'
import { namespaces } from './cluster/namespace.ts'
import { nodes } from './cluster/node.ts'
import { configMaps } from './config/config-map.ts'
import { secrets } from './config/secret.ts'
import { events } from './event.ts'
import { bindings } from './pod/binding.ts'
import { pods } from './pod/index.ts'
import { podTemplates } from './pod/pod-template.ts'
import { limitRanges } from './quota/limit-range.ts'
import { resourceQuotas } from './quota/resource-quota.ts'
import { replicationControllers } from './replication-controller.ts'
import { endpoints } from './service/endpoints.ts'
import { services } from './service/index.ts'
import { serviceAccounts } from './service-account.ts'
import { persistentVolumes } from './storage/persistent-volume.ts'
import { persistentVolumeClaims } from './storage/persistent-volume-claim.ts'

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
