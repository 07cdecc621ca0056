/** The forms in which objects are stored: JSON, protobuf and YAML, of this server's versions and of older ones. */
export { type StorageMediaType, storageMediaTypes } from './kind-format.ts'
export { storageFormats } from './storage-formats.ts'
