/**
 * Since when the server tells when tokens of Secrets were used (KEP-2799): a config map that the cleaner of such
 * Secrets reads.
 */
import type { KubeObject, Unstructured } from '../../machinery/object.ts'
import type { Reconcile } from './ensure-objects.ts'

interface Tracking extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

/** `now` is in ms since the epoch. */
export const legacyTokenTracking = (now: number): Tracking =>
  ({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'kube-apiserver-legacy-service-account-token-tracking', namespace: 'kube-system' },
    data: { since: new Date(now).toISOString().slice(0, 10) },
  }) as Unstructured

/** What is no day begins anew. */
export const reconciledTracking: Reconcile<Tracking> = (existing, { data }) =>
  Number.isNaN(Date.parse(existing.data?.since ?? ''))
    ? { object: { ...existing, data: { ...existing.data, ...data } }, replace: false }
    : undefined
