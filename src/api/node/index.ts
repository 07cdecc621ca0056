/** node.k8s.io, in the order of its discovery. */
import { runtimeClasses } from './runtime-class.ts'

export const resources = [runtimeClasses]
