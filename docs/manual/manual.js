/* Lets the keyboard scroll tables that are wider than the page: the theme wraps them once it runs. */
function letKeysScroll() {
  for (const wrap of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) wrap.tabIndex = 0;
}

new MutationObserver(letKeysScroll).observe(document.body, { childList: true, subtree: true });
letKeysScroll();
