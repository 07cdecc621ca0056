/**
 * Removes generated token Secrets that nobody uses (KEP-2799): first their tokens are marked as invalid, and a period
 * later they go. When a token was used last is told by the server, in a label.
 */
import { type Controller, type ReconcileContext, reads } from '../../client/controller/controller.ts'
import {
  serviceAccounts as accounts,
  configMaps,
  type Pod,
  pods,
  type Secret,
  type ServiceAccount,
  secrets,
} from '../../client/kinds.ts'
import { isNotFoundOrConflict } from '../api-errors.ts'

export interface LegacyTokensOptions {
  /** How long a Secret has to be unused, in ms (`--legacy-service-account-token-clean-up-period`). */
  readonly unusedMs: number
  readonly now?: () => number
}

const lastUsedLabel = 'kubernetes.io/legacy-token-last-used'
const invalidSinceLabel = 'kubernetes.io/legacy-token-invalid-since'
const nameAnnotation = 'kubernetes.io/service-account.name'
const uidAnnotation = 'kubernetes.io/service-account.uid'
/** Holds the day since which the server tells of uses. */
const tracking = { namespace: 'kube-system', name: 'kube-apiserver-legacy-service-account-token-tracking' } as const
const dayMs = 24 * 3600 * 1000

export const legacyTokens = ({ unusedMs, now = Date.now }: LegacyTokensOptions): Controller => ({
  name: 'legacy-serviceaccount-token-cleaner-controller',
  watches: [
    reads(secrets, { fieldSelector: 'type=kubernetes.io/service-account-token' }),
    reads(accounts),
    reads(pods),
  ],
  run: async ({ requeue }) => requeue('all'),
  async reconcile(key, context) {
    context.requeue(key, dayMs)
    const { client, caches } = context
    const { data } = await client.get(configMaps, tracking.namespace, tracking.name)
    const since = dayOf(data?.since)
    // The first whole day is the one after.
    if (since === undefined || now() < since + dayMs + unusedMs) return
    for (const secret of caches.all(secrets)) {
      const step = nextStep(
        secret,
        {
          account: accountOf(secret, context),
          isMounted: () => isMounted(secret, caches.in(pods, secret.metadata.namespace ?? '')),
        },
        unusedMs,
        now(),
      )
      await carryOut(step, secret, context, now()).catch(unlessChanged)
    }
  },
})

interface Surroundings {
  /** The account that the Secret is for, if it is there. */
  readonly account: ServiceAccount | undefined
  readonly isMounted: () => boolean
}

/** What is to be done about a Secret. `now` is in ms since the epoch. */
export function nextStep(
  { metadata }: Secret,
  { account, isMounted }: Surroundings,
  unusedMs: number,
  now: number,
): 'mark' | 'remove' | undefined {
  const { labels = {}, name } = metadata
  if (metadata.deletionTimestamp || Date.parse(metadata.creationTimestamp ?? '') >= now - unusedMs) return undefined
  const keptSince = dayText(now - unusedMs)
  const lastUsed = labels[lastUsedLabel]
  if (lastUsed !== undefined && (dayOf(lastUsed) === undefined || lastUsed >= keptSince)) return undefined
  // Only who generated it named it in the account.
  if (!account?.secrets?.some((secret) => secret.name === name) || isMounted()) return undefined
  const invalidSince = labels[invalidSinceLabel]
  if (invalidSince === undefined || dayOf(invalidSince) === undefined) return 'mark'
  return invalidSince < keptSince ? 'remove' : undefined
}

async function carryOut(
  step: 'mark' | 'remove' | undefined,
  { metadata }: Secret,
  { client }: ReconcileContext,
  now: number,
): Promise<void> {
  const { namespace = '', name = '', uid, resourceVersion } = metadata
  if (step === 'mark')
    await client.patch(
      secrets,
      namespace,
      name,
      { metadata: { uid, labels: { [invalidSinceLabel]: dayText(now) } } },
      'merge',
    )
  if (step === 'remove') await client.delete(secrets, namespace, name, { resourceVersion })
}

/** Who has used or changed it meanwhile is asked again tomorrow. */
function unlessChanged(error: unknown): void {
  if (!isNotFoundOrConflict(error)) throw error
}

function accountOf({ metadata }: Secret, { caches }: ReconcileContext): ServiceAccount | undefined {
  const { namespace = '', annotations = {} } = metadata
  const account = caches.get(accounts, namespace, annotations[nameAnnotation] ?? '')
  const uid = annotations[uidAnnotation]
  return !uid || uid === account?.metadata.uid ? account : undefined
}

/** Whether a pod names the Secret, wherever. */
function isMounted({ metadata: { name } }: Secret, all: Iterable<Pod>): boolean {
  for (const { spec } of all) {
    const containers = [
      ...(spec?.containers ?? []),
      ...(spec?.initContainers ?? []),
      ...(spec?.ephemeralContainers ?? []),
    ]
    const named = [
      ...(spec?.imagePullSecrets ?? []).map((secret) => secret.name),
      ...containers.flatMap(({ env, envFrom }) => [
        ...(env ?? []).map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
        ...(envFrom ?? []).map(({ secretRef }) => secretRef?.name),
      ]),
      ...(spec?.volumes ?? []).flatMap(({ secret, projected, csi }) => [
        secret?.secretName,
        csi?.nodePublishSecretRef?.name,
        ...(projected?.sources ?? []).map((source) => source.secret?.name),
      ]),
    ]
    if (named.includes(name)) return true
  }
  return false
}

/** `2026-01-31`, in UTC. */
const dayText = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** When a day begins, in ms since the epoch; undefined for what is none. */
function dayOf(text = ''): number | undefined {
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}
