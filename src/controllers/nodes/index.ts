/** Nodes that come, fail and go, and the pods on them. */
import type { ControllerDescriptor } from '../descriptor.ts'

export const controllers: readonly ControllerDescriptor[] = []
