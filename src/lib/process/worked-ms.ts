/** CPU time in ms, of what `process.cpuUsage()` or `process.threadCpuUsage()` say. */
export const workedMs = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000
