/** The components of the API server. To add one, write its file and put it into the list. */
import type { Component } from '../../lib/lifetime/components.ts'
import { access } from './access.ts'
import { addedApis, policyStatus } from './added-apis.ts'
import { boot } from './boot.ts'
import { clock } from './clock.ts'
import type { ServerParts } from './component.ts'
import { eventExpiry } from './event-expiry.ts'
import { firstObjects } from './first-objects.ts'
import { identity } from './identity.ts'
import { listener, ownService, serviceAddresses, warmth } from './listening.ts'
import { auditLog, metrics } from './observability.ts'
import { chain, documents, endpoints } from './requests.ts'
import { resourceMetrics } from './resource-metrics.ts'
import { resources } from './resources.ts'
import { copiedObjects, templates } from './templates.ts'
import { testControl } from './test-control.ts'

/** In the order of their start. */
export const serverComponents: readonly Component<ServerParts>[] = [
  metrics,
  auditLog,
  resources,
  copiedObjects,
  boot,
  serviceAddresses,
  access,
  firstObjects,
  addedApis,
  policyStatus,
  resourceMetrics,
  eventExpiry,
  testControl,
  clock,
  documents,
  endpoints,
  chain,
  templates,
  listener,
  ownService,
  identity,
  warmth,
]
