# Takes away what install.ps1 put there, and what cairn registered in other programs. Leaves the memory where it is.
#
#   uninstall.ps1 [-From DIR] [-Force]
#
# -Force removes the program even if a tool could not be disconnected.
param(
    [string]$From = (Join-Path $env:LOCALAPPDATA 'Programs\cairn'),
    [switch]$Force
)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'

function Remove-FromPath([string]$Dir) {
    $key = Get-Item -LiteralPath 'HKCU:\Environment'
    $path = [string]$key.GetValue('Path', '', 'DoNotExpandEnvironmentNames')
    $kept = @($path -split ';' | Where-Object { $_ -ne $Dir }) -join ';'
    if ($kept -eq $path) { return }
    Set-ItemProperty -LiteralPath 'HKCU:\Environment' -Name 'Path' -Value $kept -Type ExpandString
    [Environment]::SetEnvironmentVariable('CAIRN_INSTALL', $null, 'User')
}

$target = Join-Path $From 'cairn.exe'
if (-not (Test-Path -LiteralPath $target -PathType Leaf)) {
    Write-Output "There is no $target; nothing to do."
    exit 0
}

# The tools go first: afterwards they would be told to start a program that is gone.
& $target disconnect all
if ($LASTEXITCODE -ne 0 -and -not $Force) {
    throw 'Not all tools could be disconnected, see above. Nothing was removed (-Force goes on all the same).'
}
& $target agent uninstall
if ($LASTEXITCODE -ne 0) { Write-Output 'There may be no background service here; going on.' }
& $target agent stop
if ($LASTEXITCODE -ne 0) { Write-Output 'No agent was stopped; going on.' }
Remove-Item -LiteralPath $target
Get-ChildItem -LiteralPath $From -Filter 'cairn.exe.*.old' | Remove-Item -ErrorAction SilentlyContinue
if (-not (Get-ChildItem -LiteralPath $From -Force)) { Remove-Item -LiteralPath $From }
Remove-FromPath $From
Write-Output "Removed: $target"

$store = if ($env:CAIRN_HOME) { $env:CAIRN_HOME } else { Join-Path $env:USERPROFILE '.cairn' }
Write-Output "Your memory is still in $store. Delete that folder only if you want to lose it."
