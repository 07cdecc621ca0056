/**
 * Deletes unused generated token Secrets (KEP-2799): first their tokens are marked as invalid, and a period later the
 * Secrets are deleted. The server records the last use of a token in a label.
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
  /** Required time without use, in ms (`--legacy-service-account-token-clean-up-period`). */
  readonly unusedMs: number
  readonly now?: () => number
}

const lastUsedLabel = 'kubernetes.io/legacy-token-last-used'
const invalidSinceLabel = 'kubernetes.io/legacy-token-invalid-since'
const nameAnnotation = 'kubernetes.io/service-account.name'
const uidAnnotation = 'kubernetes.io/service-account.uid'
/** The config map with the day since which the server records uses. */
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
    // The first complete day is the next one.
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
      await applyStep(step, secret, context, now()).catch(ignoreChanged)
    }
  },
})

interface SecretUsage {
  /** The account of the Secret, if it exists. */
  readonly account: ServiceAccount | undefined
  readonly isMounted: () => boolean
}

/** Decides the next step for a Secret. `now` is in ms since the epoch. */
export function nextStep(
  { metadata }: Secret,
  { account, isMounted }: SecretUsage,
  unusedMs: number,
  now: number,
): 'mark' | 'remove' | undefined {
  const { labels = {}, name } = metadata
  if (metadata.deletionTimestamp || Date.parse(metadata.creationTimestamp ?? '') >= now - unusedMs) return undefined
  const unusedSince = dayText(now - unusedMs)
  const lastUsed = labels[lastUsedLabel]
  if (lastUsed !== undefined && (dayOf(lastUsed) === undefined || lastUsed >= unusedSince)) return undefined
  // Only generated Secrets are listed in the account.
  if (!account?.secrets?.some((secret) => secret.name === name) || isMounted()) return undefined
  const invalidSince = labels[invalidSinceLabel]
  if (invalidSince === undefined || dayOf(invalidSince) === undefined) return 'mark'
  return invalidSince < unusedSince ? 'remove' : undefined
}

async function applyStep(
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

/** Ignores Secrets that were changed meanwhile: they are checked again the next day. */
function ignoreChanged(error: unknown): void {
  if (!isNotFoundOrConflict(error)) throw error
}

function accountOf({ metadata }: Secret, { caches }: ReconcileContext): ServiceAccount | undefined {
  const { namespace = '', annotations = {} } = metadata
  const account = caches.get(accounts, namespace, annotations[nameAnnotation] ?? '')
  const uid = annotations[uidAnnotation]
  return !uid || uid === account?.metadata.uid ? account : undefined
}

/** Returns true if a pod references the Secret anywhere. */
function isMounted({ metadata: { name } }: Secret, all: Iterable<Pod>): boolean {
  for (const { spec } of all) {
    const containers = [
      ...(spec?.containers ?? []),
      ...(spec?.initContainers ?? []),
      ...(spec?.ephemeralContainers ?? []),
    ]
    const referenced = [
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
    if (referenced.includes(name)) return true
  }
  return false
}

/** Formats a day as `2026-01-31`, in UTC. */
const dayText = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** The start of a day in ms since the epoch; undefined if invalid. */
function dayOf(text = ''): number | undefined {
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}
