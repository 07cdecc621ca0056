/** Authentication, authorization and admission. */
import { admissionChain } from '../admission/index.ts'
import { guardPodCertificates } from '../admission/write-guards/pod-certificates.ts'
import { guardClaims } from '../admission/write-guards/resource-claims.ts'
import { authenticationOf } from '../authentication/index.ts'
import { authorization } from '../authorization/index.ts'
import { guardRoles, RolePolicy } from '../authorization/rbac/index.ts'
import { ownWriter } from '../registry/write/own-writer.ts'
import { component } from './component.ts'

/** Rejects with an ExplainedError for options that contradict each other, and for a file with errors. */
export const access = component({
  name: 'access',
  needs: ['options', 'registry', 'find', 'apis', 'places', 'metrics', 'boot', 'log'],
  gives: ['authentication', 'authorizer', 'admission', 'writer'],
  async start({ options, boot, ...sources }, lifetime) {
    const { registry, find, log } = sources
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
    for (const one of [tokens, roles, authorizers, admission]) lifetime.onEnd(() => one.stop())
    // Waits for all: one that starts after the others have stopped would not be stopped.
    const starts = await boot.during(
      'access',
      Promise.allSettled([authorizers.start(), admission.start(), tokens.start()]),
    )
    for (const start of starts) if (start.status === 'rejected') throw start.reason
    return { authentication, authorizer, admission, writer }
  },
})
