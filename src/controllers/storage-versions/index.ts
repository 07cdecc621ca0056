/** Objects written anew in the version that is stored. */
import type { ControllerDescriptor } from '../descriptor.ts'

export const controllers: readonly ControllerDescriptor[] = []
