/** Custom resources, served from CustomResourceDefinitions. */
import { DefinitionController, type DefinitionControllerOptions } from './definitions/definition-controller.ts'

export type { DefinitionControllerOptions } from './definitions/definition-controller.ts'

export const customResources = (options: DefinitionControllerOptions): DefinitionController =>
  new DefinitionController(options)
