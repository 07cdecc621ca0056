/** Work that ends: Jobs, CronJobs, and the removal of what has ended. */
import type { ControllerDescriptor } from '../descriptor.ts'

export const controllers: readonly ControllerDescriptor[] = []
