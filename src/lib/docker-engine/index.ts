/** A client of Docker engines. */
export { engineAddress } from './address.ts'
export { DockerEngine } from './docker-engine.ts'
export { EngineError, isConflict, isMissing } from './engine-error.ts'
export { FrameSplitter } from './frames.ts'
export { jsonLines } from './json-lines.ts'
