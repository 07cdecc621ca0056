/**
 * The ConfigMap with the date since which the server tracks the use of tokens in Secrets (KEP-2799), read by the
 * cleaner of such Secrets.
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

/** Replaces an invalid date. */
export const reconciledTracking: Reconcile<Tracking> = (existing, { data }) =>
  Number.isNaN(Date.parse(existing.data?.since ?? ''))
    ? { object: { ...existing, data: { ...existing.data, ...data } }, replace: false }
    : undefined
