/** What kube-apiserver 1.28 with etcd 3.4 does on a machine of two cores with kload on the same cores, and what we aim at. */

/** Operations a second by phase; `watch` counts events. */
export const upstream: Readonly<Record<'pods' | 'configmaps', Readonly<Record<string, number>>>> = {
  pods: { create: 1326, get: 3295, list: 14.4, list0: 28.9, table: 18.0, update: 645, patch: 874, 'w-create': 612, watch: 30_181, delete: 886 },
  configmaps: { create: 1964, get: 3735, list: 29.6, list0: 82.2, table: 40.6, update: 1131, patch: 1582, 'w-create': 810, watch: 40_477, delete: 1997 },
}

/** The design's target: so many times upstream's number. */
export const targetRatio = 3
export const startMs = { upstream: 2300, target: 500 }
export const idleMegabytes = { upstream: 265, target: 120 }
export const loadedMegabytes = { upstream: 765, target: 300 }
/** The design bounds the delay of watch events. */
export const watchP99Ms = { upstream: 147, target: 50 }
