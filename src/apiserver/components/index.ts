/** The components of the API server. To add one, write its file and put it into the list. */
import type { Component } from '../../lib/lifetime/components.ts'
import { access } from './access.ts'
import { addedApis, policyStatus } from './added-apis.ts'
import { boot } from './boot.ts'
import type { ServerParts } from './component.ts'
import { clock } from './control/clock.ts'
import { testControl } from './control/test-control.ts'
import { identity } from './identity.ts'
import { listener, ownService, serviceAddresses, warmth } from './listening.ts'
import { eventExpiry } from './objects/event-expiry.ts'
import { firstObjects } from './objects/first-objects.ts'
import { copiedObjects, templates } from './objects/templates.ts'
import { auditLog, metrics } from './observability.ts'
import { chain, documents, endpoints } from './requests.ts'
import { resourceMetrics } from './resource-metrics.ts'
import { resources } from './resources.ts'

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
