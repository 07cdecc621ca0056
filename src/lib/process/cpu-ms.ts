/** CPU time in ms of a result of `process.cpuUsage()` or `process.threadCpuUsage()`. */
export const cpuMs = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000
