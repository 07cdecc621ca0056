/** apiregistration.k8s.io, in the order of its discovery. */
import { apiServices } from './api-service.ts'

export const resources = [apiServices]
