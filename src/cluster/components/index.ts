/** The components of a cluster. To add one, write its file and put it into the list. */
import type { Component } from '../../lib/lifetime/components.ts'
import { apiServer } from './api-server.ts'
import { administrator, controllers, hostPathClass, ingress, realNode, scheduler, simulatedNodes } from './clients.ts'
import type { ClusterParts } from './component.ts'
import { joining } from './joining.ts'
import { plan } from './plan.ts'
import { certificates, store } from './storage.ts'

/** In the order of their start. The real node takes longest. */
export const clusterComponents: readonly Component<ClusterParts>[] = [
  plan,
  store,
  certificates,
  apiServer,
  administrator,
  realNode,
  controllers,
  scheduler,
  simulatedNodes,
  ingress,
  hostPathClass,
  joining,
]
