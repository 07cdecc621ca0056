/**
 * The numbers of kube-apiserver 1.28 with etcd 3.4 on a machine of two cores, with kload on the same cores, and our
 * targets.
 */
import type { Kind } from './load/objects.ts'

/** Operations per second by phase; `watch` counts events. */
export const upstream: Readonly<Record<Kind, Readonly<Record<string, number>>>> = {
  pods: {
    create: 1326,
    get: 3295,
    list: 14.4,
    list0: 28.9,
    table: 18.0,
    update: 645,
    patch: 874,
    'w-create': 612,
    watch: 30_181,
    delete: 886,
  },
  configmaps: {
    create: 1964,
    get: 3735,
    list: 29.6,
    list0: 82.2,
    table: 40.6,
    update: 1131,
    patch: 1582,
    'w-create': 810,
    watch: 40_477,
    delete: 1997,
  },
  gadgets: {},
}

/** CPU time of all its processes per request in ms, by phase; `watch` is a create with 50 watchers. */
export const upstreamCpuMs: Readonly<Record<Kind, Readonly<Record<string, number>>>> = {
  pods: {
    create: 2.47,
    get: 0.686,
    list: 181,
    list0: 85.5,
    table: 132,
    update: 4.47,
    patch: 3.85,
    watch: 13.96,
    delete: 3.03,
  },
  configmaps: {},
  gadgets: {},
}

/** The design's targets: this many times upstream's requests per second, and upstream's CPU time divided by this. */
export const targetRatio = 3
export const cpuTargetRatio = 5
export const startMs = { upstream: 2300, target: 500 }
export const idleMegabytes = { upstream: 265, target: 120 }
export const loadedMegabytes = { upstream: 765, target: 300 }
/** The design limits the delay of watch events. */
export const watchP99Ms = { upstream: 147, target: 50 }
/** After many loads, in MB: the data directory, the server, and the restarted server. */
export const soakMegabytes = { file: 400, resident: 350, restarted: 150 }
