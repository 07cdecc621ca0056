/** Custom resources: what CustomResourceDefinitions make the server serve. */
import { DefinitionController, type DefinitionControllerOptions } from './definitions/definition-controller.ts'

export type { DefinitionControllerOptions } from './definitions/definition-controller.ts'

export const customResources = (options: DefinitionControllerOptions): DefinitionController =>
  new DefinitionController(options)
