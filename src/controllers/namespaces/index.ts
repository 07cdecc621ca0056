/** Empties namespaces that are deleted. */
import type { ControllerDescriptor } from '../descriptor.ts'

export const controllers: readonly ControllerDescriptor[] = []
