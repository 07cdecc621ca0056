/** Checks of the user of containers: it must not be root. */
import { type Check, type CheckPod, containersOf, exceptInUserNamespace, named, namesWhere, setters } from './check.ts'

const runAsNonRoot: CheckPod = ({ spec }) => {
  const reason = 'runAsNonRoot != true'
  const wholePod = spec.securityContext?.runAsNonRoot
  const disabled: string[] = []
  const unset: string[] = []
  for (const { name, securityContext } of containersOf(spec)) {
    const own = securityContext?.runAsNonRoot ?? undefined
    if (own === false) disabled.push(name)
    if (own === undefined && wholePod !== true) unset.push(name)
  }
  const who = setters(wholePod === false, disabled)
  if (who.length) return { reason, detail: `${who.join(' and ')} must not set securityContext.runAsNonRoot=false` }
  return unset.length
    ? { reason, detail: `pod or ${named(unset)} must set securityContext.runAsNonRoot=true` }
    : undefined
}

const runAsUser: CheckPod = ({ spec }) => {
  const bad = namesWhere(spec, ({ securityContext }) => securityContext?.runAsUser === 0)
  const who = setters(spec.securityContext?.runAsUser === 0, bad)
  return who.length ? { reason: 'runAsUser=0', detail: `${who.join(' and ')} must not set runAsUser=0` } : undefined
}

export const userChecks: readonly Check[] = [
  {
    id: 'runAsNonRoot',
    level: 'restricted',
    revisions: [
      { since: 0, check: runAsNonRoot },
      { since: 35, check: exceptInUserNamespace(runAsNonRoot) },
    ],
  },
  {
    id: 'runAsUser',
    level: 'restricted',
    revisions: [
      { since: 23, check: runAsUser },
      { since: 35, check: exceptInUserNamespace(runAsUser) },
    ],
  },
]
