/** Builds images: from a Dockerfile, or from a folder with a root file system. */
export { type BuildReport, buildImage } from './build-image.ts'
export { buildRootfs } from './build-rootfs.ts'
