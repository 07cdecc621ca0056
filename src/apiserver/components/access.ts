/**
 * Who somebody is, what they may do, and what becomes of what they write: authentication, authorization and admission.
 */

import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { AdmissionChain } from '../admission/admission-chain.ts'
import { admissionChain } from '../admission/index.ts'
import { guardPodCertificates } from '../admission/write-guards/pod-certificates.ts'
import { guardClaims } from '../admission/write-guards/resource-claims.ts'
import { type Authentication, authenticationOf } from '../authentication/index.ts'
import type { Authorizer } from '../authorization/authorizer.ts'
import { authorization } from '../authorization/index.ts'
import { guardRoles, RolePolicy } from '../authorization/rbac/index.ts'
import type { Places } from '../proxy/index.ts'
import { ownWriter } from '../registry/write/own-writer.ts'
import type { Writer } from '../registry/write/write-context.ts'
import type { ApiServerOptions } from '../server-options.ts'
import type { Lifetime } from './lifetime.ts'
import type { Resources } from './resources.ts'

export interface Access {
  readonly authentication: Authentication
  readonly authorizer: Authorizer
  readonly admission: AdmissionChain
  /** The server's own hand. */
  readonly writer: Writer
  /** Resolves when all can decide. Rejects with an ExplainedError for a file that is not right. */
  start(): Promise<void>
}

interface AccessSources extends Pick<Resources, 'registry' | 'find' | 'apis'> {
  readonly places: Places
  readonly metrics: MetricsRegistry
  readonly lifetime: Lifetime
  readonly log: (line: string) => void
}

/** Throws an ExplainedError for options that make no sense. */
export function accessOf(options: ApiServerOptions, sources: AccessSources): Access {
  const { registry, find, lifetime, log } = sources
  const roles = new RolePolicy({ registry, find, log })
  const authorizers = authorization(options.authorization ?? {}, { ...sources, roles })
  const { authorizer } = authorizers
  guardRoles(find, roles, authorizer)
  guardClaims(find, authorizer)
  guardPodCertificates(find, authorizer)
  const admission = admissionChain({ ...sources, authorizer }, options.admission)
  const writer = ownWriter(registry, admission)
  const authentication = authenticationOf(options, { ...sources, writer })
  const { tokens } = authentication
  for (const part of [tokens, roles, authorizers, admission]) lifetime.onEnd(() => part.stop())
  return {
    authentication,
    authorizer,
    admission,
    writer,
    async start() {
      // All are waited for: what begins after others have ended would not end.
      const starts = await Promise.allSettled([authorizers.start(), admission.start(), tokens.start()])
      for (const start of starts) if (start.status === 'rejected') throw start.reason
    },
  }
}
