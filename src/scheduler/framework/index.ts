/** The scheduling framework, for plug-ins. Start reading at `plugin.ts`. */

export * from './cluster-events.ts'
export * from './cycle.ts'
export * from './extender.ts'
export * from './handle.ts'
export * from './node-info.ts'
export * from './plugin.ts'
export * from './pods/affinity-terms.ts'
export * from './pods/host-ports.ts'
export * from './pods/pod-info.ts'
export * from './resources.ts'
export * from './snapshot.ts'
export * from './status.ts'
