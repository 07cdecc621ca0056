/** Devices that pods claim. */
import type { ControllerDescriptor } from '../descriptor.ts'

export const controllers: readonly ControllerDescriptor[] = []
